import { consoleFindings, type ConsoleModel, type ModelSpeeds } from '@engraft/contract/console';
import { useMutation, useQuery } from '@tanstack/react-query';
import { post } from '../api.js';
import { formatBytes, formatCount, formatDuration, formatTime } from '../format.js';
import { ErrorNote, Loading } from '../parts/parts.js';
import { useOperates } from '../project.js';
import { modelQuery, speedsQuery } from '../queries.js';

/** The model that answers and learns, and what is wrong with the installation. */
export function Model() {
  const operates = useOperates();
  const { data, error, isPending } = useQuery(modelQuery);
  return (
    <>
      <h1>Model</h1>
      <ErrorNote error={error} />
      {isPending && <Loading what="the model" />}
      {data !== undefined && <Described {...data} />}
      {operates && <Findings />}
    </>
  );
}

const teachers = {
  english: 'Rules of English beside the model’s own questions.',
  model: 'The model itself, in whatever language it reads.',
  both: 'Rules of English, and the model itself.',
} as const;

function Described({ model_id, model, missing }: ConsoleModel) {
  const speeds = useQuery({ ...speedsQuery, enabled: model !== null });
  if (model === null) return <p className="note warn">No model work is done: {missing}.</p>;
  const { teacher, teacher_model } = model;
  const memory = [formatBytes(model.serving_bytes), formatBytes(model.learning_bytes)] as const;
  const context = `a conversation has at most ${formatCount(model.context_tokens)} tokens`;
  return (
    <>
      <dl className="figures facts">
        <Fact name="Model" value={model.name} hint={`The API calls it ${model_id}.`} />
        <Fact
          name="Size"
          value={`${formatCount(model.parameters)} parameters`}
          hint={`${model.architecture}, weights kept as ${model.weights}; ${context}.`}
        />
        <Fact
          name="Teacher"
          value={teacher === 'elsewhere' ? `${teacher_model ?? 'A model'}, elsewhere` : teachers[teacher]}
          hint="It asks the questions about a passage that are learned and tested."
        />
        <Fact
          name="Memory"
          value={`About ${memory[0]} to answer, ${memory[1]} more to learn`}
          hint={`This machine has ${formatBytes(model.machine_bytes)}.`}
        />
        <Speed isPending={speeds.isPending} speeds={speeds.data?.speeds ?? null} />
      </dl>
      <ErrorNote error={speeds.error} />
    </>
  );
}

function Speed({ isPending, speeds }: { readonly isPending: boolean; readonly speeds: ModelSpeeds | null }) {
  if (isPending) return <Fact name="Speed" value="Measuring…" hint="It takes some seconds, once." />;
  if (speeds === null)
    return <Fact name="Speed" value="Not known" hint="Another process has the engine, or it did not answer." />;
  const { answer_tokens_per_second, seconds_per_1000_chars, measured_at } = speeds;
  const answers = `${formatCount(Math.round(answer_tokens_per_second * 10) / 10)} tokens a second in an answer`;
  const learns =
    seconds_per_1000_chars === null
      ? ''
      : `, about ${formatDuration(seconds_per_1000_chars)} to learn 1,000 characters`;
  return (
    <Fact
      name="Speed"
      value={answers + learns}
      hint={`Measured ${formatTime(measured_at)}, beside other work. Run \`engraft model check\` to measure it alone.`}
    />
  );
}

function Fact({ name, value, hint }: { readonly name: string; readonly value: string; readonly hint: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
      <dd className="hint">{hint}</dd>
    </div>
  );
}

/** The findings of `engraft doctor`. */
function Findings() {
  const examination = useMutation({ mutationFn: () => post(consoleFindings, '/examinations') });
  const findings = examination.data?.findings;
  return (
    <section aria-labelledby="findings">
      <h2 id="findings">Installation</h2>
      <p className="hint">
        Looks at Node.js, the data folder, the database, the clock, the model and the engine, as{' '}
        <code>engraft doctor</code> does. A teacher elsewhere is asked one short question.
      </p>
      <button disabled={examination.isPending} onClick={() => examination.mutate()}>
        {examination.isPending ? 'Examining…' : 'Examine the installation'}
      </button>
      <ErrorNote error={examination.error} />
      {findings !== undefined && (
        <>
          <p role="status">
            {findings.every(({ ok }) => ok) ? 'Nothing is wrong.' : 'Something is wrong: see the lines marked so.'}
          </p>
          <div className="scroll" tabIndex={0} role="region" aria-label="Findings">
            <table>
              <tbody>
                {findings.map(({ name, ok, detail }) => (
                  <tr key={name}>
                    <td>
                      <span className={`status ${ok ? 'good' : 'bad'}`}>{ok ? 'ok' : 'wrong'}</span>
                    </td>
                    <th scope="row">{name}</th>
                    <td>{detail}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}
