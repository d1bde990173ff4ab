export interface Scrape {
  readonly content_type: string;
  readonly text: string;
  /** The labels of every series, by its name. */
  readonly series: ReadonlyMap<string, ReadonlySet<string>>;
}

export async function scrape(url: string, accept = 'text/plain'): Promise<Scrape> {
  const response = await fetch(`${url}/metrics`, { headers: { accept } });
  const text = await response.text();
  const series = new Map<string, Set<string>>();
  for (const line of text.split('\n')) {
    const [, name, labels = ''] = /^(\w+)(?:\{(.*?)\})? /u.exec(line) ?? [];
    if (name === undefined) continue;
    const known = series.get(name) ?? new Set<string>();
    for (const [, label = ''] of labels.matchAll(/(\w+)="/gu)) known.add(label);
    series.set(name, known);
  }
  return { content_type: response.headers.get('content-type') ?? '', text, series };
}
