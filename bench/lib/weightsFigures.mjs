// The figures of `npm run bench -- weights`: what learning takes and is worth by the format of the weights.

/**
 * Only passages that were learned in every format count, so that all are asked the same questions.
 * @param {{ id: string, seed: number, format: string, report: object, engine: object }[]} runs
 */
export function figuresOf(runs, formats) {
  const keyOf = ({ id, seed }) => `${id} ${seed}`;
  const keysOf = (format) => new Set(runs.filter((run) => run.format === format).map(keyOf));
  const keys = formats.map(keysOf);
  const common = runs.filter((run) => formats.includes(run.format) && keys.every((some) => some.has(keyOf(run))));
  return formats.map((format) => ({ format, ...totalsOf(common.filter((run) => run.format === format)) }));
}

function totalsOf(runs) {
  const sum = (of) => runs.reduce((total, run) => total + of(run), 0);
  const most = (of) => Math.max(0, ...runs.map(of));
  const tally = (part) => ({
    right: sum(({ report }) => report[part].right),
    total: sum(({ report }) => report[part].total),
  });
  return {
    learnings: runs.length,
    facts: sum(({ report }) => report.fact_count),
    steps: sum(({ report }) => report.steps),
    training_gb: most(({ engine }) => engine.training_gb),
    serving_gb: most(({ engine }) => engine.serving_gb),
    training_cpu_seconds: sum(({ engine }) => engine.training_cpu_seconds),
    seconds: sum(({ report }) => report.seconds),
    heldOut: tally('unseen'),
    trained: tally('trained'),
  };
}

/** Points of held-out answers that a format has beyond those of the first; `null` where nothing was asked. */
export function pointsBeyond(first, { heldOut }) {
  const share = ({ right, total }) => right / total;
  return heldOut.total === 0 ? null : 100 * (share(heldOut) - share(first.heldOut));
}

export function print({ machine, model, threads, figures }) {
  const { cpu, cores, loadAverage, note } = machine;
  const load = `load average ${loadAverage.toFixed(1)}${note === undefined ? '' : ` (${note})`}`;
  console.log(`\n${cpu}, ${cores} cores, ${threads} threads, ${load}; ${model.parameters} parameters`);
  const [first] = figures;
  console.log(`${first.learnings} learnings in each format, ${first.facts} facts, ${first.steps} steps`);
  const of = ({ right, total }) => `${right} of ${total}`;
  console.table(
    figures.map((row) => ({
      weights: row.format,
      'peak of the training process': `${row.training_gb.toFixed(2)} GB`,
      'its processor seconds': row.training_cpu_seconds.toFixed(0),
      'peak of the serving process': `${row.serving_gb.toFixed(2)} GB`,
      'held-out answers': of(row.heldOut),
      [`points beyond ${first.format}`]: pointsBeyond(first, row)?.toFixed(1) ?? '–',
      'trained questions': of(row.trained),
    })),
  );
}
