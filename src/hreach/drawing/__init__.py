"""What all pictures share: one palette, one canvas, one style, one way to save. Importing a part imports Matplotlib."""
