(function () {
  "use strict";
  function colors() {
    const style = getComputedStyle(document.documentElement);
    return function (name) { return style.getPropertyValue("--" + name).trim(); };
  }
  function dataset(line, color) {
    const own = color("c" + line.color);
    const dots = line.look === "dots";
    const few = line.points.length <= 40 && line.look !== "raw";
    return {
      label: line.name,
      data: line.points.map(function (p) { return { x: p[0], y: p[1] }; }),
      showLine: !dots, spanGaps: false,
      borderColor: line.look === "raw" ? own + "59" : own, backgroundColor: own,
      borderWidth: line.look === "raw" ? 1 : 2,
      borderDash: line.look === "dashed" ? [6, 4] : [],
      pointRadius: dots ? 2.5 : few ? 2 : 0, pointHitRadius: line.look === "raw" ? 0 : 6
    };
  }
  function axis(title, color) {
    return {
      type: "linear", title: { display: title !== "", text: title, color: color("quiet") },
      ticks: { color: color("quiet") }, grid: { color: color("line") }
    };
  }
  const charts = [];
  function draw(figure) {
    const data = JSON.parse(figure.dataset.chart);
    const color = colors();
    let canvas = figure.querySelector("canvas");
    if (!canvas) {
      canvas = document.createElement("canvas");
      figure.querySelector(".plot").appendChild(canvas);
    }
    figure.classList.add("drawn");
    charts.push(new Chart(canvas, {
      type: "scatter",
      data: { datasets: data.lines.map(function (line) { return dataset(line, color); }) },
      options: {
        animation: false, maintainAspectRatio: false,
        interaction: { mode: data.lines.some(function (l) { return l.look === "dots"; }) ? "nearest" : "x", intersect: false },
        scales: { x: axis(data.x, color), y: axis("", color) },
        plugins: {
          legend: { display: false },
          tooltip: {
            filter: function (item, index, items) {
              return items.findIndex(function (other) { return other.datasetIndex === item.datasetIndex; }) === index;
            },
            callbacks: {
              title: function (items) { return items.length ? data.x + " " + Number(items[0].parsed.x.toPrecision(6)) : ""; },
              label: function (item) { return item.dataset.label + ": " + Number(item.parsed.y.toPrecision(5)); }
            }
          }
        }
      }
    }));
  }
  function drawAll() {
    while (charts.length) charts.pop().destroy();
    document.querySelectorAll("figure.chart").forEach(draw);
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
      const cell = event.target.closest ? event.target.closest(".heat td") : null;
      tip.style.display = cell ? "block" : "none";
      if (!cell) return;
      tip.textContent = cellText(cell);
      tip.style.left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8) + "px";
      tip.style.top = event.clientY + 14 + "px";
    });
  }
  drawAll();
  showTips();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
})();
