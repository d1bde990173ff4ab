import type { Job } from '@engraft/contract';
import type { ConsoleJob, HeldOutReply, LearningTrace } from '@engraft/contract/console';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { formatCount, formatTime } from '../format.js';
import { LineChart } from '../parts/charts.js';
import { JobCost } from '../parts/JobCost.js';
import { JobProgress, LearningOutcome } from '../parts/JobProgress.js';
import { ErrorNote, Loading, Status } from '../parts/parts.js';
import { useOperates, useProject } from '../project.js';
import { jobQuery } from '../queries.js';
import { ResolveJob } from './ResolveJob.js';

export function JobPage() {
  const project = useProject();
  const operates = useOperates();
  const { job: jobId = '' } = useParams({ strict: false });
  const { data, error, isPending } = useQuery(jobQuery(project, jobId));
  return (
    <>
      <p>
        <Link to="/p/$project/jobs" params={{ project }}>
          ← Jobs
        </Link>
      </p>
      <ErrorNote error={error} />
      {isPending && <Loading what="the job" />}
      {data !== undefined && (
        <>
          <Head detail={data} />
          {data.job.status === 'reconciliation_required' && (
            <p className="note warn">
              Nobody knows yet what this job costs, so its reservation is held. An operator settles it.
            </p>
          )}
          {data.job.status === 'reconciliation_required' && operates && <ResolveJob job={data.job} />}
          <LearningOutcome job={data.job} />
          <Answer job={data.job} />
          {data.trace !== null && <Questions questions={data.trace.questions} job={data.job} />}
          <h2>Phases</h2>
          <JobProgress detail={data} />
          {data.trace !== null && <Loss loss={data.trace.loss} />}
          <JobCost detail={data} />
        </>
      )}
    </>
  );
}

function Head({ detail: { job, submitted_by } }: { readonly detail: ConsoleJob }) {
  return (
    <>
      <div className="title">
        <h1>
          {job.kind === 'inference' ? 'Question to' : 'Learning for'} {job.subject_id}
        </h1>
        <Status name={job.status} />
      </div>
      <p className="hint">
        <code>{job.id}</code> · sent by {submitted_by} · {formatTime(job.created_at)} ·{' '}
        {job.kind === 'inference' ? 'answered by' : 'parent'} <code>{job.adapter_version}</code>
        {job.tenant_id !== null && <> · tenant {job.tenant_id}</>}
      </p>
      {job.error !== null && job.status !== 'rejected' && (
        <p className="note bad">Ended with the error {job.error.code.replaceAll('_', ' ')}.</p>
      )}
    </>
  );
}

function Answer({ job: { result } }: { readonly job: Job }) {
  if (result === null || !('text' in result)) return null;
  return (
    <>
      <h2>Answer</h2>
      <blockquote>{result.text}</blockquote>
      {result.finish_reason === 'length' && <p className="hint">It was cut at the output ceiling.</p>}
    </>
  );
}

/** The questions of validation with both answers. Nobody had the passage before them. */
function Questions({ questions, job }: Pick<LearningTrace, 'questions'> & { readonly job: Job }) {
  if (questions.length === 0) return null;
  return (
    <section aria-labelledby="questions">
      <h2 id="questions">Held-out questions</h2>
      <p className="hint">
        Nothing was trained on these. Both were asked without the passage: the parent (
        <code>{job.adapter_version.slice(0, 14)}</code>) and the new version. They are deleted with the job’s data.
      </p>
      <div className="scroll" tabIndex={0} role="region" aria-label="Questions and answers">
        <table>
          <thead>
            <tr>
              <th>Question</th>
              <th>Expected</th>
              <th>Parent said</th>
              <th>New version said</th>
            </tr>
          </thead>
          <tbody>
            {questions.map(({ question, answer, parent, candidate }, index) => (
              // Two facts may have the same question.
              <tr key={index}>
                <th scope="row">{question}</th>
                <td>{answer}</td>
                <td>
                  <Reply {...parent} />
                </td>
                <td>
                  <Reply {...candidate} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Reply({ text, is_right }: HeldOutReply) {
  return (
    <>
      {text ?? <span className="hint">a sentence, not kept</span>} ({is_right ? 'right' : 'wrong'})
    </>
  );
}

function Loss({ loss }: Pick<LearningTrace, 'loss'>) {
  const [first, last] = [loss[0], loss.at(-1)];
  if (first === undefined || last === undefined) return null;
  return (
    <section aria-labelledby="loss">
      <h2 id="loss">Training loss</h2>
      <LineChart
        title="Training loss by step"
        summary={`It went from ${first.loss.toFixed(2)} to ${last.loss.toFixed(2)} in ${last.step} steps.`}
        points={loss.map(({ step, loss: y }) => ({ x: step, y }))}
        x={{ name: 'Step', format: formatCount }}
        y={{ name: 'Loss', format: (value) => value.toFixed(2) }}
      />
    </section>
  );
}
