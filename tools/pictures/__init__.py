"""A picture for each day, as SVG: `track dev pictures` draws them."""
