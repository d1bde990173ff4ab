import { sum } from '@engraft/learning/parts';

/** Groups of bars from 0 to 100 %, drawn as a stand-alone SVG document. */
export interface BarChart {
  readonly title: string;
  readonly groups: readonly string[];
  readonly series: readonly BarSeries[];
}

export interface BarSeries {
  readonly name: string;
  /** One for each group, from 0 to 1. `null` leaves its place empty. */
  readonly values: readonly (number | null)[];
  /** One for each group: the smallest and largest of the values that `values` averages, drawn as a whisker. */
  readonly ranges?: readonly (readonly [number, number] | null)[];
}

const colours = ['#8d99ae', '#2a6f97', '#e07a5f', '#6a994e', '#b56576', '#457b9d'] as const;
const plot = { left: 52, top: 64, height: 260, barWidth: 16, gap: 18 } as const;

export function barChart({ title, groups, series }: BarChart): string {
  const groupWidth = Math.max(56, series.length * plot.barWidth + plot.gap);
  const legendWidth = sum(series.map(({ name }) => legendEntryWidth(name)));
  const width = plot.left + Math.max(groups.length * groupWidth, legendWidth, 8 * title.length) + 24;
  const height = plot.top + plot.height + 8 + 7 * Math.max(4, ...groups.map((group) => group.length));
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="${plot.left}" y="22" font-size="15">${escapeText(title)}</text>`,
    ...legend(series),
    ...gridLines(groups.length * groupWidth),
    ...groups.flatMap((group, index) => drawGroup(group, index, groupWidth, series)),
    '</svg>',
  ];
  return `${parts.join('\n')}\n`;
}

function legend(series: readonly BarSeries[]): string[] {
  let x: number = plot.left;
  return series.flatMap(({ name }, index) => {
    const at = x;
    x += legendEntryWidth(name);
    return [
      `<rect x="${at}" y="34" width="11" height="11" fill="${colourOf(index)}"/>`,
      `<text x="${at + 16}" y="44">${escapeText(name)}</text>`,
    ];
  });
}

function legendEntryWidth(name: string): number {
  return 7 * name.length + 32;
}

function gridLines(width: number): string[] {
  return [0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
    `<line x1="${plot.left}" x2="${plot.left + width}" y1="${yOf(value)}" y2="${yOf(value)}" stroke="#dddddd"/>`,
    `<text x="${plot.left - 6}" y="${round(yOf(value) + 4)}" text-anchor="end">${100 * value} %</text>`,
  ]);
}

function drawGroup(group: string, index: number, groupWidth: number, series: readonly BarSeries[]): string[] {
  const left = plot.left + index * groupWidth + (groupWidth - series.length * plot.barWidth) / 2;
  const bars = series.flatMap(({ values, ranges }, place) => {
    const value = values[index] ?? null;
    if (value === null) return [];
    const x = left + place * plot.barWidth;
    const middle = round(x + plot.barWidth / 2 - 1);
    const range = ranges?.[index] ?? null;
    const bar = `<rect x="${round(x)}" y="${yOf(value)}" width="${plot.barWidth - 2}" height="${round(yOf(0) - yOf(value))}" fill="${colourOf(place)}"><title>${escapeText(group)}: ${Math.round(100 * value)} %</title></rect>`;
    if (range === null) return [bar];
    const [low, high] = range;
    return [bar, `<line x1="${middle}" x2="${middle}" y1="${yOf(low)}" y2="${yOf(high)}" stroke="#222222"/>`];
  });
  const x = round(left + (series.length * plot.barWidth) / 2);
  const y = plot.top + plot.height + 14;
  return [
    ...bars,
    `<text x="${x}" y="${y}" text-anchor="end" transform="rotate(-40 ${x} ${y})">${escapeText(group)}</text>`,
  ];
}

function yOf(value: number): number {
  return round(plot.top + plot.height * (1 - Math.min(1, Math.max(0, value))));
}

function colourOf(index: number): string {
  return colours[index % colours.length] ?? colours[0];
}

function round(value: number): number {
  return Math.round(100 * value) / 100;
}

function escapeText(text: string): string {
  return text.replace(/&/gu, '&amp;').replace(/</gu, '&lt;').replace(/>/gu, '&gt;').replace(/"/gu, '&quot;');
}
