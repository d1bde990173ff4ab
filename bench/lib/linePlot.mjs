// Lines over an axis from zero, as a stand-alone SVG document.
const WIDTH = 900;
const HEIGHT = 380;
const PLOT = { left: 70, right: 20, top: 70, bottom: 44 };
const COLOURS = ['#2a6f97', '#e07a5f', '#6a994e', '#b56576'];

/**
 * @param {{ title: string, note: string, x: string, lines: { name: string, points: { x: number, y: number }[] }[] }}
 * chart
 */
export function linePlot({ title, note, x, lines }) {
  const all = lines.flatMap(({ points }) => points);
  const [most_x, most_y] = [niceTop(all.map((point) => point.x)), niceTop(all.map((point) => point.y))];
  const at = {
    x: (value) => round(PLOT.left + (value / most_x) * (WIDTH - PLOT.left - PLOT.right)),
    y: (value) => round(HEIGHT - PLOT.bottom - (value / most_y) * (HEIGHT - PLOT.top - PLOT.bottom)),
  };
  const steps = [0, 0.25, 0.5, 0.75, 1];
  const grid = steps.flatMap((share) => [
    `<line x1="${PLOT.left}" x2="${WIDTH - PLOT.right}" y1="${at.y(share * most_y)}" y2="${at.y(share * most_y)}" stroke="#ddd"/>`,
    text(PLOT.left - 8, at.y(share * most_y) + 4, label(share * most_y), 'text-anchor="end"'),
    text(at.x(share * most_x), HEIGHT - PLOT.bottom + 18, label(share * most_x), 'text-anchor="middle"'),
  ]);
  const drawn = lines.flatMap(({ name, points }, index) => [
    `<rect x="${PLOT.left + 160 * index}" y="42" width="11" height="11" fill="${COLOURS[index]}"/>`,
    text(PLOT.left + 160 * index + 16, 52, name),
    `<polyline fill="none" stroke="${COLOURS[index]}" stroke-width="2" points="${points.map((point) => `${at.x(point.x)},${at.y(point.y)}`).join(' ')}"/>`,
  ]);
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    text(PLOT.left, 20, title, 'font-size="15"'),
    text(PLOT.left, 36, note, 'fill="#555"'),
    ...grid,
    text(WIDTH - PLOT.right, HEIGHT - 8, x, 'text-anchor="end" fill="#555"'),
    ...drawn,
    '</svg>',
  ].join('\n')}\n`;
}

/** The least of 1, 2, 4, 5, 6, 8, 10 … times a power of ten that all values stay under. */
function niceTop(values) {
  const most = Math.max(0, ...values);
  if (most === 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return power * [1, 2, 4, 5, 6, 8, 10].find((times) => times * power >= most);
}

const round = (value) => Math.round(100 * value) / 100;
const label = (value) => Number(value.toPrecision(3)).toString();

function text(x, y, content, attributes = '') {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}" ${attributes}>${escaped}</text>`;
}
