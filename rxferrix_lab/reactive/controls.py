"""What one session has chosen: zone, section, job, filters.

Written by the page and its widgets only, never by the model.
"""

import param


class Controls(param.Parameterized):
    """The choices of one session; those of the jobs page are kept in the URL with the others."""

    section = param.String(default="overview", doc="The section that is open.")
    zone = param.String(default="UTC", doc="The IANA zone in which instants are shown.")
    is_dark = param.Boolean(default=False, doc="Whether the page is dark.")
    job = param.Integer(default=0, doc="The job that is open; 0 for none.")
    states = param.String(default="", doc="States of the jobs shown, joined by commas.")
    text = param.String(default="", doc="Text in function, arguments or error.")
    function = param.String(default="", doc="The function of the jobs shown.")
    pool = param.String(default="", doc="The pool of the jobs shown.")
    cron = param.String(default="", doc="The cron of the jobs shown.")
    since = param.String(default="", doc="Asked for since this wall time in the zone.")
    until = param.String(default="", doc="Asked for before this wall time in the zone.")
    order = param.String(default="-id", doc="Column of the order; a minus sign: descending.")
    at = param.String(default="", doc="Where the page lies: empty, 'last', or a job's id.")
