import type { ConsoleJob } from '@engraft/contract/console';
import { formatCount, formatUsd } from '../format.js';

type Usage = ConsoleJob['job']['usage'];
type Rates = ConsoleJob['rates'];

/** Each kind of token, with how many there are and its rate. */
function lines(usage: Usage, rates: Rates): (readonly [string, number, number])[] {
  return [
    ['Input tokens', usage.input_tokens - usage.cached_input_tokens, rates.input_nanousd_per_token],
    ['Cached input tokens', usage.cached_input_tokens, rates.cached_input_nanousd_per_token],
    ['Output tokens', usage.output_tokens, rates.output_nanousd_per_token],
    ['Training tokens', usage.training_tokens, rates.training_nanousd_per_token],
  ];
}

function costMicrousd(tokens: number, nanousd: number): number {
  return (tokens * nanousd) / 1_000;
}

/** The tokens that the job has used, and how its charge comes about. */
export function JobCost({ detail }: { readonly detail: ConsoleJob }) {
  const { usage, billing } = detail.job;
  return (
    <section aria-labelledby="cost">
      <h2 id="cost">Usage and cost</h2>
      <div className="scroll" tabIndex={0} role="region" aria-label="Cost of each kind of token">
        <table>
          <thead>
            <tr>
              <th>For</th>
              <th className="number">Tokens</th>
              <th className="number">USD per million</th>
              <th className="number">Cost</th>
            </tr>
          </thead>
          <tbody>
            {lines(usage, detail.rates).map(([name, tokens, nanousd]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td className="number">{formatCount(tokens)}</td>
                <td className="number">{formatCount(nanousd / 1_000)}</td>
                <td className="number">{formatUsd(costMicrousd(tokens, nanousd))}</td>
              </tr>
            ))}
            {billing.settled && (
              <>
                <Sum name="Compute, rounded up" microusd={billing.compute_microusd} />
                <Sum name="Storage of the first day" microusd={billing.storage_microusd} />
              </>
            )}
            <Sum
              name={billing.settled ? 'Charged' : 'Reserved, to be settled when the job ends'}
              microusd={billing.settled ? billing.charged_microusd : billing.reserved_microusd}
            />
          </tbody>
        </table>
      </div>
      <p className="hint">
        {formatUsd(billing.reserved_microusd)} were reserved, by the prices of {billing.pricing_version}.
      </p>
      <ByPhase detail={detail} />
    </section>
  );
}

function Sum({ name, microusd }: { readonly name: string; readonly microusd: number }) {
  return (
    <tr>
      <th scope="row" colSpan={3}>
        {name}
      </th>
      <td className="number">{formatUsd(microusd)}</td>
    </tr>
  );
}

function ByPhase({ detail: { phases, rates } }: { readonly detail: ConsoleJob }) {
  if (phases.length === 0) return null;
  return (
    <details>
      <summary>By phase</summary>
      <div className="scroll" tabIndex={0} role="region" aria-label="Usage by phase">
        <table>
          <thead>
            <tr>
              <th>Phase</th>
              <th className="number">Input</th>
              <th className="number">Cached</th>
              <th className="number">Output</th>
              <th className="number">Training</th>
              <th className="number">Cost</th>
            </tr>
          </thead>
          <tbody>
            {phases.map(({ phase, usage }) => (
              <tr key={phase}>
                <th scope="row">{phase}</th>
                {lines(usage, rates).map(([name, tokens]) => (
                  <td key={name} className="number">
                    {formatCount(tokens)}
                  </td>
                ))}
                <td className="number">
                  {formatUsd(
                    lines(usage, rates).reduce((sum, [, tokens, nanousd]) => sum + costMicrousd(tokens, nanousd), 0),
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
