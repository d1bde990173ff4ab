import { useId, type ReactNode } from 'react';

const width = 640;
const height = 220;
const left = 64;
const bottom = 24;
const top = 20;

interface Axis {
  readonly name: string;
  readonly format: (value: number) => string;
}

/** A round number that is at least `value`, for the top of an axis. */
function roundUp(value: number): number {
  if (value <= 0) return 1;
  const magnitude = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 2.5, 5, 10].find((step) => step * magnitude >= value) ?? 10) * magnitude;
}

/** The frame of a chart: the grid with its numbers. What it shows is also said in words, and as a table. */
function Frame(props: {
  readonly title: string;
  readonly summary: string;
  readonly max: number;
  readonly format: (value: number) => string;
  readonly children: ReactNode;
}) {
  const id = useId();
  const plotted = height - top - bottom;
  return (
    <svg className="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-labelledby={`${id}-title ${id}-summary`}>
      <title id={`${id}-title`}>{props.title}</title>
      <desc id={`${id}-summary`}>{props.summary}</desc>
      {[0, 0.5, 1].map((share) => (
        <g key={share}>
          <line
            className="grid"
            x1={left}
            x2={width}
            y1={top + plotted * (1 - share)}
            y2={top + plotted * (1 - share)}
          />
          <text x={left - 6} y={top + plotted * (1 - share) + 4} textAnchor="end">
            {props.format(props.max * share)}
          </text>
        </g>
      ))}
      {props.children}
    </svg>
  );
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A line through points whose `x` rises. */
export function LineChart(props: {
  readonly title: string;
  readonly summary: string;
  readonly points: readonly Point[];
  readonly x: Axis;
  readonly y: Axis;
}) {
  const { points } = props;
  const last = points.at(-1);
  if (last === undefined) return null;
  const max = roundUp(Math.max(...points.map(({ y }) => y)));
  const first = points[0]?.x ?? 0;
  const span = Math.max(1, last.x - first);
  const place = ({ x, y }: Point): string => {
    const across = left + ((x - first) / span) * (width - left - 8);
    return `${across.toFixed(1)},${(top + (1 - y / max) * (height - top - bottom)).toFixed(1)}`;
  };
  return (
    <figure>
      <Frame title={props.title} summary={props.summary} max={max} format={props.y.format}>
        <polyline className="line" points={points.map(place).join(' ')} />
        <text x={left} y={height - 6}>
          {props.x.name} {props.x.format(first)}
        </text>
        <text x={width - 4} y={height - 6} textAnchor="end">
          {props.x.format(last.x)}
        </text>
      </Frame>
      <DataTable
        title={props.title}
        head={[props.x.name, props.y.name]}
        rows={points.map(({ x, y }) => [props.x.format(x), props.y.format(y)])}
      />
    </figure>
  );
}

export interface Bar {
  readonly name: string;
  /** As many as there are series. */
  readonly values: readonly number[];
}

/** A stack for each name, with a part for each series; at most eight series. */
export function BarChart(props: {
  readonly title: string;
  readonly summary: string;
  readonly series: readonly string[];
  readonly bars: readonly Bar[];
  readonly nameOf: string;
  readonly format: (value: number) => string;
}) {
  const { bars, series, format } = props;
  const sums = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const max = roundUp(Math.max(0, ...sums));
  const slot = (width - left - 8) / Math.max(1, bars.length);
  const scale = (height - top - bottom) / max;
  return (
    <figure>
      <Frame title={props.title} summary={props.summary} max={max} format={format}>
        {bars.map(({ name, values }, index) => (
          <Stack key={name} values={values} x={left + index * slot + slot * 0.15} width={slot * 0.7} scale={scale} />
        ))}
        <text x={left} y={height - 6}>
          {bars[0]?.name}
        </text>
        <text x={width - 4} y={height - 6} textAnchor="end">
          {bars.length > 1 && bars.at(-1)?.name}
        </text>
      </Frame>
      <ul className="legend">
        {series.map((name, index) => (
          <li key={name}>
            <svg className="swatch" viewBox="0 0 10 10" aria-hidden="true">
              <rect className={`series-${index}`} width="10" height="10" />
            </svg>{' '}
            {name}
          </li>
        ))}
      </ul>
      <DataTable
        title={props.title}
        head={[props.nameOf, ...series]}
        rows={bars.map(({ name, values }) => [name, ...values.map(format)])}
      />
    </figure>
  );
}

function Stack(props: {
  readonly values: readonly number[];
  readonly x: number;
  readonly width: number;
  readonly scale: number;
}) {
  const { values, x, scale } = props;
  return values.map((value, index) => {
    const below = values.slice(0, index).reduce((sum, each) => sum + each, 0);
    const y = height - bottom - (below + value) * scale;
    // A stack has its parts in the order of the series, which never changes.
    return <rect key={index} className={`series-${index}`} x={x} y={y} width={props.width} height={value * scale} />;
  });
}

/** The same numbers for those who read rather than see. */
function DataTable(props: {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}) {
  return (
    <details>
      <summary>The numbers</summary>
      <div className="scroll" tabIndex={0} role="region" aria-label={`${props.title}: the numbers`}>
        <table>
          <thead>
            <tr>
              {props.head.map((name, index) => (
                <th key={name} className={index === 0 ? '' : 'number'}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {props.rows.map(([name = '', ...values]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {values.map((value, index) => (
                  <td key={props.head[index + 1]} className="number">
                    {value}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
