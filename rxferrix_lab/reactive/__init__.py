"""What screens and cells look at: frozen pictures of a running app, and the verbs to operate it."""
