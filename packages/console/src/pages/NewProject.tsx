import { consoleProject } from '@engraft/contract/console';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { post } from '../api.js';
import { ErrorNote, Field } from '../parts/parts.js';
import { sessionQuery } from '../queries.js';

/** Makes a project and goes there. */
export function NewProject({ onDone }: { readonly onDone?: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const create = useMutation({
    mutationFn: () => post(consoleProject, '/projects', { name }),
    onSuccess: async ({ id }) => {
      await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
      onDone?.();
      await navigate({ to: '/p/$project', params: { project: id } });
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <Field label="Name" hint="A project has its own keys, subjects and balance, which is empty at first.">
        {(ids) => (
          <input {...ids} required maxLength={128} value={name} onChange={(event) => setName(event.target.value)} />
        )}
      </Field>
      <ErrorNote error={create.error} />
      <div className="buttons">
        {onDone !== undefined && (
          <button type="button" onClick={onDone}>
            Cancel
          </button>
        )}
        <button className="primary" disabled={create.isPending}>
          Create the project
        </button>
      </div>
    </form>
  );
}
