import { consoleEstimate, type ExpectedCharge, type LearningEstimate } from '@engraft/contract/console';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { post } from '../api.js';
import { formatDuration, formatUsd } from '../format.js';
import { useProject } from '../project.js';
import { of } from '../queries.js';
import { ErrorNote } from './parts.js';

const pauseMs = 600;
/** Cents say enough of an estimate. */
const microusdPerCent = 10_000;

interface EstimateProps {
  readonly content: string;
  readonly maxCostMicrousd: number;
}

/** The expected cost and time of learning the passage, as soon as nobody types any more. */
export function Estimate({ content, maxCostMicrousd }: EstimateProps) {
  const project = useProject();
  const settled = useSettled(content);
  const { data, error, isFetching } = useQuery({
    queryKey: ['estimate', project, settled],
    queryFn: () => post(consoleEstimate, `${of(project)}/estimates`, { content: settled }),
    enabled: settled.length >= 20 && settled.length <= 16_000,
    staleTime: Infinity,
    placeholderData: (before) => before,
  });
  if (error !== null) return <ErrorNote error={error} />;
  const estimate = data?.estimate;
  return (
    <p className="hint" role="status">
      {isFetching && estimate === undefined && 'Estimating cost and time…'}
      {estimate === null && 'Nobody can say before what this will cost. It will not cost more than the limit.'}
      {estimate !== null && estimate !== undefined && (
        <>
          About <Charge expected={estimate} />, if nothing else runs and the subject is new.
          {estimate.with_sentences !== null && (
            <>
              {' '}
              If the passage is hard to ask about, whole sentences are learned, for about{' '}
              <Charge expected={estimate.with_sentences} />.
            </>
          )}
          {mostOf(estimate) > maxCostMicrousd && ' For the limit below, less of the passage may be learned.'}
        </>
      )}
    </p>
  );
}

function Charge({ expected: { charged_microusd, seconds } }: { readonly expected: ExpectedCharge }) {
  return (
    <>
      <strong>{formatUsd(Math.ceil(charged_microusd / microusdPerCent) * microusdPerCent)}</strong>
      {seconds !== null && (
        <>
          {' '}
          and <strong>{formatDuration(seconds)}</strong>
        </>
      )}
    </>
  );
}

function mostOf({ charged_microusd, with_sentences }: LearningEstimate): number {
  return Math.max(charged_microusd, with_sentences?.charged_microusd ?? 0);
}

/** The value once it has stayed the same for a moment. */
function useSettled(value: string): string {
  const [settled, settle] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => settle(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
