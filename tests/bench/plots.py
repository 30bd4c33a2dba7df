"""Plots as SVG, by hand: horizontal bars with a whisker from low to high, and shares of a whole."""

import html

COLOURS = ("#2b6cb0", "#c05621", "#2f855a", "#805ad5", "#b7791f", "#319795", "#97266d", "#4a5568", "#9b2c2c", "#718096")
ROW, LEFT, WIDTH, RIGHT = 20, 300, 460, 150


def text(x, y, words, anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{html.escape(str(words))}</text>'


def picture(height, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + RIGHT}" height="{height}" '
            f'viewBox="0 0 {LEFT + WIDTH + RIGHT} {height}" font-family="sans-serif" font-size="12">'
            f'<rect width="100%" height="100%" fill="white"/>{"".join(body)}</svg>\n')


def bars(title, rows, unit, mark=None):
    """rows: (name, value, low, high); `mark`: a value to draw a line at."""
    most = max([high for *_, high in rows] + ([mark] if mark else [])) or 1
    at = lambda value: LEFT + WIDTH * value / most
    body = [text(10, 20, title, more='font-weight="bold" font-size="14"')]
    for number, (name, value, low, high) in enumerate(rows):
        y = 36 + ROW * number
        body.append(text(LEFT - 8, y + 13, name, "end"))
        body.append(f'<rect x="{LEFT}" y="{y + 2}" width="{max(1, at(value) - LEFT):.1f}" height="{ROW - 6}" fill="{COLOURS[0]}"/>')
        if high > low:
            body.append(f'<path d="M{at(low):.1f} {y + 9}H{at(high):.1f}M{at(low):.1f} {y + 5}v8M{at(high):.1f} {y + 5}v8" '
                        'stroke="black" fill="none"/>')
        body.append(text(at(high) + 6, y + 13, f"{value:.3g} {unit}".strip()))
    bottom = 36 + ROW * len(rows)
    if mark:
        body.append(f'<path d="M{at(mark):.1f} 32V{bottom}" stroke="{COLOURS[1]}" stroke-dasharray="4 3"/>')
    return picture(bottom + 12, body)


def shares(title, parts):
    """parts: (name, share of 1)."""
    body, x = [text(10, 20, title, more='font-weight="bold" font-size="14"')], 10.0
    whole = LEFT + WIDTH + RIGHT - 20
    scale = max(1.0, sum(share for _, share in parts))  # what runs side by side may be more than the whole
    for number, (name, share) in enumerate(parts):
        colour = COLOURS[number % len(COLOURS)]
        body.append(f'<rect x="{x:.1f}" y="32" width="{share / scale * whole:.1f}" height="28" fill="{colour}"/>')
        x += share / scale * whole
        y = 80 + 16 * number
        body.append(f'<rect x="10" y="{y - 10}" width="12" height="12" fill="{colour}"/>')
        body.append(text(28, y, f"{name}: {share:.1%}"))
    return picture(80 + 16 * len(parts), body)
