"""The notebook: an extension, its magics, and what shows itself in a cell."""
