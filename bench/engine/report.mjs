// The figures as a table and as a plot.

/** Whether a figure reaches its target; `null` where there is none. */
export function isMet({ target, value, ratio }) {
  if (target === null) return null;
  if ('below' in target) return value < target.below;
  return 'atLeast' in target ? ratio >= target.atLeast : ratio <= target.atMost;
}

export function targetText(target) {
  if (target === null) return '';
  if ('below' in target) return `< ${target.below}`;
  return 'atLeast' in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`;
}

/** Four significant digits at most, and no decimals above a thousand. */
export function numberText(value) {
  if (value >= 1000) return Math.round(value).toLocaleString('en-US');
  return Number(value.toPrecision(3)).toString();
}

/** @param {{ machine: object, quick: boolean, sections: { title: string, rows: object[] }[] }} results */
export function markdown({ machine, command, sections }) {
  const { cpu, cores, node, date, loadAverage, note } = machine;
  const lines = [
    '# The engine against its peers',
    '',
    `\`npm run bench -- ${command}\`, ${date.slice(0, 10)}, ${cpu}, ${cores} cores, Node ${node}, load average at the start ` +
      `${loadAverage.toFixed(1)}${note === undefined ? '' : ` (${note})`}. Peers take turns with the engine in the same run; values are medians, ` +
      'ratios medians of the ratios of neighbouring runs.',
    '',
    '![ratios](engine.svg)',
  ];
  for (const section of sections) {
    const { title, rows } = section;
    lines.push('', `## ${title}`, '', ...measuredAt(section, cpu));
    lines.push(
      '| figure | model | threads | engine | peer | ratio | target | met |',
      '|---|---|---|---|---|---|---|---|',
    );
    for (const row of rows) lines.push(`| ${cells(row).join(' | ')} |`);
  }
  return `${lines.join('\n')}\n`;
}

/** Parts can be measured anew by themselves, on another machine as well. */
function measuredAt({ cpu, date, loadAverage }, usualCpu) {
  if (date === undefined) return [];
  const where = cpu === undefined || cpu === usualCpu ? '' : ` on ${cpu}`;
  const load = loadAverage === null ? 'load average not known' : `load average ${loadAverage.toFixed(1)}`;
  return [`Begun ${date.slice(0, 16).replace('T', ' ')} UTC${where}, ${load}.`, ''];
}

function cells(row) {
  const met = isMet(row);
  return [
    row.figure,
    row.model,
    row.threads,
    `${numberText(row.value)} ${row.unit}`,
    `${numberText(row.peerValue)} (${row.peer})`,
    row.ratio === null ? '' : row.ratio.toFixed(2),
    targetText(row.target),
    met === null ? '' : met ? 'yes' : '**no**',
  ];
}

const pageWidth = 1080;
const labelWidth = 560;
const plotWidth = pageWidth - labelWidth - 70;
const lineHeight = 20;
const metColour = '#2a7f62';
const missedColour = '#c1483b';
const neutralColour = '#6b7785';

/** A bar for every ratio, on a logarithmic scale from 1/8 to 8, with a mark where its target is. */
export function svg({ sections }) {
  const parts = [];
  let y = 30;
  for (const { title, rows } of sections) {
    const plotted = rows.filter(({ ratio }) => ratio !== null);
    if (plotted.length === 0) continue;
    parts.push(text(10, y, title, 'font-weight="bold"'));
    y += lineHeight;
    for (const row of plotted) {
      parts.push(...bar(row, y));
      y += lineHeight;
    }
    y += lineHeight / 2;
  }
  const axis = [0.125, 0.25, 0.5, 1, 2, 4, 8].flatMap((ratio) => [
    `<line x1="${place(ratio)}" x2="${place(ratio)}" y1="18" y2="${y}" stroke="${ratio === 1 ? '#333' : '#ddd'}"/>`,
    text(place(ratio), 12, String(ratio), 'text-anchor="middle" fill="#555"'),
  ]);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${pageWidth} ${y + 24}" font-family="sans-serif" font-size="12">\n` +
    `<rect width="100%" height="100%" fill="#fff"/>\n${[...axis, ...parts].join('\n')}\n` +
    `${text(10, y + 12, 'engine ÷ peer; the black mark is the target: green reaches it, red does not, grey has none', 'fill="#555"')}\n</svg>\n`
  );
}

function bar(row, y) {
  const met = isMet(row);
  const from = Math.min(place(1), place(row.ratio));
  const width = Math.max(1, Math.abs(place(row.ratio) - place(1)));
  const color = met === null ? neutralColour : met ? metColour : missedColour;
  const target = row.target?.atLeast ?? row.target?.atMost;
  const threads = `${row.threads} thread${row.threads === 1 ? '' : 's'}`;
  return [
    text(labelWidth - 10, y, `${row.figure} — ${row.model}, ${threads}`, 'text-anchor="end"'),
    `<rect x="${from}" y="${y - 11}" width="${width}" height="14" fill="${color}"/>`,
    ...(target === undefined
      ? []
      : [`<rect x="${place(target) - 1.5}" y="${y - 14}" width="3" height="20" fill="#000"/>`]),
    text(pageWidth - 50, y, row.ratio.toFixed(2)),
  ];
}

function place(ratio) {
  const octaves = Math.log2(Math.min(8, Math.max(0.125, ratio)));
  return Math.round(labelWidth + ((octaves + 3) / 6) * plotWidth);
}

function text(x, y, content, attributes = '') {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}" ${attributes}>${escaped}</text>`;
}
