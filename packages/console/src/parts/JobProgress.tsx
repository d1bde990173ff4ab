import type { Job } from '@engraft/contract';
import type { ConsoleJob } from '@engraft/contract/console';
import { formatAge, formatTime } from '../format.js';

const learning = ['queued', 'teaching', 'scoring', 'training', 'evaluating', 'saving', 'settling', 'done'] as const;
const inference = ['queued', 'generating', 'validating', 'settling', 'done'] as const;

const meanings: Readonly<Record<string, string>> = {
  queued: 'waits for a worker',
  teaching: 'the model asks itself about the passage',
  scoring: 'its answers are confirmed',
  training: 'what was confirmed goes into weights',
  evaluating: 'questions that were held out are asked',
  saving: 'the new version is kept',
  generating: 'the model answers',
  validating: 'the answer is checked',
  settling: 'the charge is settled',
  done: 'it has ended',
};

/** The phases of a job in their order, with the one that it is in. */
export function JobProgress({ detail }: { readonly detail: ConsoleJob }) {
  const { job, phases, training_steps } = detail;
  const order: readonly string[] = job.kind === 'inference' ? inference : learning;
  const at = order.indexOf(job.phase);
  return (
    <>
      <ol className="phases" aria-label="Phases">
        {order.map((phase, index) => {
          const finished = phases.find((each) => each.phase === phase)?.finished_at;
          const state = index < at || job.phase === 'done' ? 'past' : index === at ? 'now' : 'to-come';
          return (
            <li key={phase} className={state} {...(state === 'now' ? { 'aria-current': 'step' as const } : {})}>
              <strong>{phase}</strong> <span className="hint">{meanings[phase]}</span>
              {phase === 'training' && training_steps > 0 && <span className="hint"> · {training_steps} steps</span>}
              {finished !== undefined && (
                <span className="hint" title={formatTime(finished)}>
                  {' '}
                  · {formatAge(finished)}
                </span>
              )}
            </li>
          );
        })}
      </ol>
      <p className="hidden" role="status">
        {job.phase}: {meanings[job.phase]}
      </p>
    </>
  );
}

/** The end of a learning job, in a sentence for people. */
export function LearningOutcome({ job }: { readonly job: Job }) {
  const { result } = job;
  if (result === null || 'text' in result) return null;
  const { validation, rejection, candidate, activated, activation_conflict } = result;
  return (
    <section aria-label="Outcome">
      {rejection !== undefined && (
        <p className="note warn">Not learned: {rejection.message} The active version is as it was.</p>
      )}
      {candidate !== undefined && (
        <p className="note good">
          Learned as version <code>{candidate.version_id}</code>, {activated ? 'which is active now.' : 'not active.'}
          {activation_conflict &&
            ' Another version was activated during the training, so this one was only kept: activate it under Subjects.'}
        </p>
      )}
      <dl className="figures">
        <div>
          <dt>Held-out questions answered</dt>
          <dd>
            {validation.passed_count} of {validation.total_count}
          </dd>
          <dd className="hint">{validation.base_passed_count} before learning</dd>
        </div>
        <div>
          <dt>Earlier passages still known</dt>
          <dd>
            {validation.retention_total_count === 0
              ? 'none before'
              : `${validation.retention_passed_count} of ${validation.retention_total_count}`}
          </dd>
        </div>
      </dl>
    </section>
  );
}
