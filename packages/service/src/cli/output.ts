/** Prints one JSON document for scripts, or lines for people. */
export function print(options: { readonly json?: boolean | undefined }, data: unknown, lines: readonly string[]): void {
  const text = options.json === true ? [JSON.stringify(data, null, 2)] : lines;
  for (const line of text) process.stdout.write(`${line}\n`);
}

/** Makes columns as wide as their widest cell. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** `12.345678 USD`, without trailing zeros beyond cents. */
export function formatUsd(microusd: number): string {
  const [whole = '0', fraction = ''] = (microusd / 1_000_000).toFixed(6).split('.');
  return `${whole}.${fraction.slice(0, 2)}${fraction.slice(2).replace(/0+$/, '')} USD`;
}
