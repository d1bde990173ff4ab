import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sessionQuery } from '../queries.js';
import { codeFor, languages, type ApiRequest } from './codeFor.js';
import { CopyButton, Field } from './parts.js';

/** The same request for a program of one's own, with a key from its environment. */
export function CopyAs({ request }: { readonly request: ApiRequest }) {
  const { data } = useQuery(sessionQuery);
  const [language, setLanguage] = useState<(typeof languages)[number]>('curl');
  const code = codeFor(language, request, { base: window.location.origin, model: data?.model_id ?? '' });
  return (
    <details className="copy-as">
      <summary>Copy as code</summary>
      <Field label="Language">
        {(ids) => (
          <select
            {...ids}
            value={language}
            onChange={(event) => setLanguage(languages.find((each) => each === event.target.value) ?? 'curl')}
          >
            {languages.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        )}
      </Field>
      <pre tabIndex={0} role="region" aria-label={`The request in ${language}`}>
        <code>{code}</code>
      </pre>
      <div className="buttons">
        <CopyButton text={code} />
      </div>
    </details>
  );
}
