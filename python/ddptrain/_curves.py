"""Curves and tables of a run as HTML with SVG, for a notebook; nothing is loaded from a network."""

import html
import math

WIDTH, HEIGHT, LEFT, BOTTOM = 360, 190, 52, 22
COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf")


class Page:
    """HTML that a notebook shows."""

    def __init__(self, text):
        self.text = text

    def _repr_html_(self):
        return self.text

    def __repr__(self):
        return "<a page for a notebook; its HTML is .text>"


def finite(value):
    return isinstance(value, (int, float)) and math.isfinite(value)


def panels(step_rows, metric_rows):
    """{"loss": {"train/loss": [(step, value), ...], "valid/loss": [...]}, "accuracy": ...}. The training loss is that of
    log periods where there are any; an average over the epoch stands in metrics.csv under the same name."""
    found = {}
    for rows, names in ((step_rows, ("train/loss",)), (metric_rows, None)):
        for row in rows:
            for name, value in row.items():
                wanted = name in names if names else "/" in name and not name.startswith("train/")
                if wanted and finite(value) and finite(row.get("step")):
                    curves = found.setdefault(name.split("/", 1)[1], {})
                    curves.setdefault(name, []).append((row["step"], value))
    return found


def short(value):
    return f"{value:.3g}"


def panel(title, curves):
    points = [point for curve in curves.values() for point in curve]
    low_x, high_x = min(x for x, _ in points), max(x for x, _ in points)
    low_y, high_y = min(y for _, y in points), max(y for _, y in points)
    wide, high = (high_x - low_x) or 1, (high_y - low_y) or 1

    def place(x, y):
        return (LEFT + (x - low_x) / wide * (WIDTH - LEFT - 8),
                HEIGHT - BOTTOM - (y - low_y) / high * (HEIGHT - BOTTOM - 26))

    parts = [f'<svg width="{WIDTH}" height="{HEIGHT}" style="font:11px sans-serif;background:#fff">',
             f'<text x="{LEFT}" y="12" font-weight="bold">{html.escape(title)}</text>']
    for y in (low_y, high_y):
        at = place(low_x, y)[1]
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - 8}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 4}" y="{at + 4:.1f}" text-anchor="end">{short(y)}</text>')
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 6}">{low_x}</text>'
                 f'<text x="{WIDTH - 8}" y="{HEIGHT - 6}" text-anchor="end">step {high_x}</text>')
    for (name, curve), color, at in zip(curves.items(), COLORS, range(6)):
        line = " ".join("{:.1f},{:.1f}".format(*place(*point)) for point in curve)
        x, y = place(*curve[-1])
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="1.5"/>'
                     f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{color}"/>'
                     f'<text x="{WIDTH - 8}" y="{12 + 12 * at}" text-anchor="end" fill="{color}">'
                     f"{html.escape(name)} {short(curve[-1][1])}</text>")
    return "".join(parts) + "</svg>"


def curves_page(step_rows, metric_rows):
    drawn = [panel(title, curves) for title, curves in panels(step_rows, metric_rows).items()]
    return f'<div>{"".join(drawn)}</div>' if drawn else "<p>no values yet</p>"


def summary_page(folder, record):
    """The folder, how the run ended, and its best and last metrics next to each other."""
    last, best = record.get("metrics") or {}, record.get("best") or {}
    rows = []
    for name in last:
        cells = [last[name], (best.get("metrics") or {}).get(name)]
        shown = [f"{cell:.4f}" if finite(cell) else "" for cell in cells]
        rows.append(f"<tr><td>{html.escape(name)}</td><td>{shown[0]}</td><td>{shown[1]}</td></tr>")
    result = html.escape(str(record.get("result") or "running or killed"))
    seconds = record.get("seconds")
    time = f" in {seconds:.1f} s" if finite(seconds) else ""
    head = f"<p><code>{html.escape(folder)}</code>: {result}{time}</p>"
    if not rows:
        return head
    best_step = f"best (step {best['step']})" if "step" in best else ""
    return head + f"<table><tr><th></th><th>last</th><th>{best_step}</th></tr>{''.join(rows)}</table>"


def frame_page(page, height):
    """A whole page within a frame of its own, so that its style and script touch nothing of the notebook."""
    return (f'<iframe srcdoc="{html.escape(page, quote=True)}" width="100%" height="{int(height)}" '
            'sandbox="allow-scripts" style="border:1px solid #ddd"></iframe>')
