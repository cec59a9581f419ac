"""The pages of the dashboard: each is `view(model, controls)` and stands alone in a cell."""
