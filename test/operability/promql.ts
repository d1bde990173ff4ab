import { parser } from '@prometheus-io/lezer-promql';

/** The names in an expression: each metric with the labels that it is selected by, and the labels of groupings. */
export interface NamedByExpression {
  readonly selectors: readonly { readonly metric: string; readonly labels: readonly string[] }[];
  readonly groupings: readonly string[];
}

/** Throws on what is no PromQL. Grafana's variables stand for durations and regular expressions. */
export function readExpression(expression: string): NamedByExpression {
  const text = expression.replaceAll(/\$__(?:rate_interval|range)/gu, '5m').replaceAll(/\$\w+/gu, '.*');
  const selectors: { metric: string; labels: string[] }[] = [];
  const groupings: string[] = [];
  let inGrouping = false;
  parser.parse(text).iterate({
    enter: ({ type, from, to }) => {
      const words = text.slice(from, to);
      if (type.isError) throw new SyntaxError(`at ${from} of ${text}`);
      if (type.name === 'GroupingLabels') inGrouping = true;
      if (type.name === 'VectorSelector') selectors.push({ metric: '', labels: [] });
      const selector = selectors.at(-1);
      if (type.name === 'Identifier' && selector !== undefined) selector.metric = words;
      if (type.name === 'LabelName') (inGrouping ? groupings : selector?.labels)?.push(words);
    },
    leave: ({ type }) => {
      if (type.name === 'GroupingLabels') inGrouping = false;
    },
  });
  return { selectors, groupings };
}
