"""The colours of all pictures."""

from __future__ import annotations

# Okabe and Ito's colours, which colour-blind eyes tell apart, without the yellow, which is lost on white.
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK = "#E69F00", "#56B4E9", "#000000"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
# Some of Tol's muted colours, where these are not enough.
WINE, OLIVE, INDIGO, TEAL = "#882255", "#999933", "#332288", "#44AA99"

INK, SOFT, GREY = "#222222", "#555555", "#767676"  # words, less of them, what stands behind
RULE, SHADE = "#e4e4e4", "#f1f1f1"  # lines of a grid; a part of the axes that is set apart
