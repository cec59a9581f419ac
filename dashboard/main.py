"""The page of `panel serve dashboard`: of the sample app, or of the one named after `--args`."""

import sys

from rxferrix_lab.views.page import serve_page

serve_page(sys.argv)
