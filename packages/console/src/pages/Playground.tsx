import { useState } from 'react';
import { Field } from '../parts/parts.js';
import { useMayWrite, useProject } from '../project.js';
import { AskPanel } from './AskPanel.js';
import { LearnPanel } from './LearnPanel.js';

/** Learn a passage, watch it happen, and ask base and what was learned side by side. */
export function Playground() {
  const project = useProject();
  const mayWrite = useMayWrite();
  const [subject, setSubject] = useState('demo');
  return (
    <>
      <h1>Playground</h1>
      <p>
        Give Engraft a short passage. It learns it into weights, and answers from them: the passage is never in the
        prompt.
      </p>
      {mayWrite ? (
        <>
          <Field label="Subject" hint="A name of your choice; what is learned under it stays together.">
            {(ids) => (
              <input
                {...ids}
                required
                pattern="[a-zA-Z0-9][a-zA-Z0-9_.:\-]{0,127}"
                value={subject}
                onChange={(event) => setSubject(event.target.value)}
              />
            )}
          </Field>
          {/* What was asked of one project is none of another's jobs. */}
          <div className="columns">
            <LearnPanel key={`learn ${project}`} subject={subject} />
            <AskPanel key={`ask ${project}`} subject={subject} />
          </div>
        </>
      ) : (
        <p className="note">Your role lets you look at this project. Learning and asking take a developer.</p>
      )}
    </>
  );
}
