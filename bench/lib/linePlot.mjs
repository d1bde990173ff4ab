// Lines over an axis from zero, as a stand-alone SVG document.
const width = 900;
const height = 380;
const margins = { left: 70, right: 20, top: 70, bottom: 44 };
const colours = ['#2a6f97', '#e07a5f', '#6a994e', '#b56576'];

/**
 * @param {{ title: string, note: string, x: string, lines: { name: string, points: { x: number, y: number }[] }[] }}
 * chart
 */
export function linePlot({ title, note, x, lines }) {
  const all = lines.flatMap(({ points }) => points);
  const [mostX, mostY] = [niceTop(all.map((point) => point.x)), niceTop(all.map((point) => point.y))];
  const at = {
    x: (value) => round(margins.left + (value / mostX) * (width - margins.left - margins.right)),
    y: (value) => round(height - margins.bottom - (value / mostY) * (height - margins.top - margins.bottom)),
  };
  const steps = [0, 0.25, 0.5, 0.75, 1];
  const grid = steps.flatMap((share) => [
    `<line x1="${margins.left}" x2="${width - margins.right}" y1="${at.y(share * mostY)}" y2="${at.y(share * mostY)}" stroke="#ddd"/>`,
    text(margins.left - 8, at.y(share * mostY) + 4, label(share * mostY), 'text-anchor="end"'),
    text(at.x(share * mostX), height - margins.bottom + 18, label(share * mostX), 'text-anchor="middle"'),
  ]);
  const drawn = lines.flatMap(({ name, points }, index) => [
    `<rect x="${margins.left + 160 * index}" y="42" width="11" height="11" fill="${colours[index]}"/>`,
    text(margins.left + 160 * index + 16, 52, name),
    `<polyline fill="none" stroke="${colours[index]}" stroke-width="2" points="${points.map((point) => `${at.x(point.x)},${at.y(point.y)}`).join(' ')}"/>`,
  ]);
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text(margins.left, 20, title, 'font-size="15"'),
    text(margins.left, 36, note, 'fill="#555"'),
    ...grid,
    text(width - margins.right, height - 8, x, 'text-anchor="end" fill="#555"'),
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
