(function () {
  "use strict";
  function number(value) { return String(Number(value.toPrecision(5))); }
  function nearest(points, distance) {
    return points.reduce(function (best, p) { return distance(p) < distance(best) ? p : best; });
  }
  // What a chart has at the pointer: of curves a value each, of dots the nearest one.
  function chartText(svg, event) {
    const data = JSON.parse(svg.closest("figure").dataset.chart);
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    const [left, top, right, bottom] = data.plot;
    const at = { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale };
    if (at.x < left || at.x > right || at.y < top || at.y > bottom) return "";
    function place(p) {
      return {
        x: left + (p[0] - data.x[0]) / (data.x[1] - data.x[0]) * (right - left),
        y: bottom - (p[1] - data.y[0]) / (data.y[1] - data.y[0]) * (bottom - top)
      };
    }
    function aside(p) { return Math.abs(place(p).x - at.x); }
    function away(p) { return Math.hypot(place(p).x - at.x, place(p).y - at.y); }
    const lines = data.lines.filter(function (line) { return line.points.length; });
    const found = lines.map(function (line) {
      return { name: line.name, point: nearest(line.points, data.dots ? away : aside) };
    });
    const closest = nearest(found.map(function (f) { return f.point; }), data.dots ? away : aside);
    function title(p) { return data.title + " " + Number(p[0].toPrecision(6)); }
    const shown = found.filter(function (f) { return !data.dots || f.point === closest; });
    return [title(closest)].concat(shown.map(function (f) {
      const elsewhere = f.point[0] === closest[0] ? "" : " (" + title(f.point) + ")";
      return (f.name ? f.name + ": " : "") + number(f.point[1]) + elsewhere;
    })).join("\n");
  }
  function cellText(cell) {
    const table = cell.closest("table");
    const truth = cell.parentElement.querySelector("th").textContent;
    const guess = table.tHead.rows[0].cells[cell.cellIndex].textContent;
    return "true " + truth + ", predicted " + guess + ": " + (cell.textContent || "0");
  }
  function showTips() {
    const tip = document.createElement("div");
    tip.id = "tip";
    document.body.appendChild(tip);
    document.addEventListener("mousemove", function (event) {
      const target = event.target;
      const cell = target.closest ? target.closest(".heat td") : null;
      const chart = target.closest ? target.closest(".plot > svg") : null;
      tip.textContent = cell ? cellText(cell) : chart ? chartText(chart, event) : "";
      tip.style.display = tip.textContent ? "block" : "none";
      tip.style.left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8) + "px";
      tip.style.top = event.clientY + 14 + "px";
    });
  }
  showTips();
})();
