import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Asking, type Side } from '../parts/Asking.js';
import { CopyAs } from '../parts/CopyAs.js';
import { Field } from '../parts/parts.js';
import { useProject } from '../project.js';
import { subjectsQuery } from '../queries.js';

const example = 'Who invented the Lume Lamp?';

/** One question, answered by the clean base model, by what is active, and by a version of choice. */
export function AskPanel({ subject }: { readonly subject: string }) {
  const project = useProject();
  const subjects = useQuery(subjectsQuery(project, ''));
  const all = subjects.data?.data.find(({ id }) => id === subject)?.versions ?? [];
  const versions = all.filter(
    ({ expires_at, base_model_changed }) => Date.parse(expires_at) > Date.now() && base_model_changed !== true,
  );
  const [pinned, setPinned] = useState('');
  const [question, setQuestion] = useState(example);
  // The version may belong to the subject that was named before.
  const isThere = versions.some(({ id }) => id === pinned);
  const sides: Side[] = [
    { title: 'Base', adapter_version: 'base' },
    { title: 'What is active', adapter_version: null },
    ...(isThere ? [{ title: 'The pinned version', adapter_version: pinned }] : []),
  ];
  return (
    <section aria-labelledby="ask">
      <h2 id="ask">2. Ask</h2>
      {versions.length > 0 && (
        <Field label="Also a pinned version">
          {(ids) => (
            <select {...ids} value={isThere ? pinned : ''} onChange={(event) => setPinned(event.target.value)}>
              <option value="">none</option>
              {versions.map(({ id, validation }) => (
                <option key={id} value={id}>
                  {id.slice(0, 14)}…, {validation.passed} of {validation.total} questions
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Asking subject={subject} sides={sides} example={example} onQuestion={setQuestion} />
      <CopyAs
        request={{
          kind: 'ask',
          subject_id: subject,
          question,
          ...(isThere ? { adapter_version: pinned } : {}),
        }}
      />
    </section>
  );
}
