import {
  consoleSettings,
  settingBounds,
  type ConsoleSettings,
  type ProjectChangeRequest,
} from '@engraft/contract/console';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { post } from '../api.js';
import { formatUsd } from '../format.js';
import { Dialog, ErrorNote, Field, Loading } from '../parts/parts.js';
import { useMay, useOperates, useProject } from '../project.js';
import { of, sessionQuery, settingsQuery } from '../queries.js';
import { NewProject } from './NewProject.js';

/** The project's name and settings, each with its meaning and what happens at the limit. */
export function Settings() {
  const project = useProject();
  const operates = useOperates();
  const [making, setMaking] = useState(false);
  const { data, error, isPending } = useQuery(settingsQuery(project));
  return (
    <>
      <div className="title">
        <h1>Settings</h1>
        {operates && <button onClick={() => setMaking(true)}>Create another project</button>}
      </div>
      <ErrorNote error={error} />
      {isPending && <Loading what="the settings" />}
      {/* A form of its own for each project: what was typed for one must not be saved in another. */}
      {data !== undefined && <SettingsForms key={project} current={data} />}
      <Dialog title="Create a project" open={making} onClose={() => setMaking(false)}>
        <NewProject onDone={() => setMaking(false)} />
      </Dialog>
    </>
  );
}

function SettingsForms({ current }: { readonly current: ConsoleSettings }) {
  const maySet = useMay('owner');
  const { settings, this_month: month } = current;
  const learning = month.learning_spent_microusd + month.learning_reserved_microusd;
  return (
    <fieldset className="settings" disabled={!maySet}>
      <legend className="hidden">Settings of the project</legend>
      {!maySet && <p className="note">Your role lets you look at the settings. An owner changes them.</p>}
      <NameForm name={current.name} />
      <LimitForm
        name="monthly_spending_limit_microusd"
        label="Spending in a month, in USD"
        current={settings.monthly_spending_limit_microusd}
        meaning={
          'The most that questions, learning and hosting may cost in a calendar month (UTC). Reservations ' +
          'of open jobs count. Empty: no limit.'
        }
        atLimit={
          'New questions and passages are refused with the error spending_limit_reached until the month ' +
          'ends or the limit is raised. Jobs that run go on; hosting is renewed.'
        }
        used={`This month: ${formatUsd(month.spent_microusd)} spent, ${formatUsd(month.reserved_microusd)} reserved.`}
      />
      <LimitForm
        name="monthly_learning_capacity_microusd"
        label="Learning in a month, in USD"
        current={settings.monthly_learning_capacity_microusd}
        meaning={
          'The most that learning may cost in a calendar month (UTC), without hosting. Each passage counts ' +
          'with its maximum until it has ended. Empty: no limit.'
        }
        atLimit="New passages are refused with the error monthly_capacity_reached. Questions are still answered."
        used={`This month: ${formatUsd(learning)} spent or reserved.`}
      />
      <NumberForm
        name="version_retention_days"
        label="Days that a version is kept"
        current={settings.version_retention_days}
        meaning={
          'How long a learned version is hosted. Each day is charged in advance. The active version of a ' +
          'subject is kept longer, as long as the balance pays for it.'
        }
        atLimit={
          'A version that is not active expires: it can no longer be asked or activated, and its files are ' +
          'deleted seven days later.'
        }
      />
      <NumberForm
        name="requests_per_minute"
        label="Requests a minute, for each key"
        current={settings.requests_per_minute}
        meaning="How many requests each API key may send in a minute. The allowance refills evenly."
        atLimit={
          'Further requests are refused with 429 rate_limited, and the Retry-After header says when to try ' +
          'again. A change holds from the next request.'
        }
      />
    </fieldset>
  );
}

function useChange(project: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (changes: ProjectChangeRequest) => post(consoleSettings, `${of(project)}/settings`, changes),
    onSuccess: async (settings, changes) => {
      client.setQueryData(settingsQuery(project).queryKey, settings);
      if (changes.name !== undefined) await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  });
}

/** Shows the saved text until somebody types, so that a change made elsewhere is seen here, too. */
function useEdited(saved: string) {
  const [edited, setText] = useState<string | null>(null);
  return { text: edited ?? saved, setText, onSaved: { onSuccess: () => setText(null) } };
}

function NameForm({ name }: { readonly name: string }) {
  const change = useChange(useProject());
  const { text, setText, onSaved } = useEdited(name);
  const save = (): void => change.mutate({ name: text }, onSaved);
  return (
    <SettingForm title="Name" change={change} onSave={save} isChanged={text !== name}>
      <Field label="Name" hint="What people and commands call the project. Keys and addresses stay as they are.">
        {(ids) => (
          <input {...ids} required maxLength={128} value={text} onChange={(event) => setText(event.target.value)} />
        )}
      </Field>
    </SettingForm>
  );
}

interface SettingProps {
  readonly label: string;
  readonly meaning: string;
  readonly atLimit: string;
  readonly used?: string;
}

function LimitForm(
  props: SettingProps & {
    readonly name: 'monthly_spending_limit_microusd' | 'monthly_learning_capacity_microusd';
    readonly current: number | null;
  },
) {
  const change = useChange(useProject());
  const shown = props.current === null ? '' : String(props.current / 1_000_000);
  const { text, setText, onSaved } = useEdited(shown);
  const save = (): void => {
    const microusd = text.trim() === '' ? null : Math.round(Number(text) * 1_000_000);
    change.mutate({ [props.name]: microusd }, onSaved);
  };
  return (
    <SettingForm title={props.label} change={change} onSave={save} isChanged={text !== shown} {...props}>
      <Field label={props.label} hint={props.meaning}>
        {(ids) => (
          <input
            {...ids}
            type="number"
            min={0}
            max={settingBounds[props.name].max / 1_000_000}
            step="any"
            placeholder="no limit"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
    </SettingForm>
  );
}

function NumberForm(
  props: SettingProps & {
    readonly name: 'version_retention_days' | 'requests_per_minute';
    readonly current: number;
  },
) {
  const change = useChange(useProject());
  const { text, setText, onSaved } = useEdited(String(props.current));
  return (
    <SettingForm
      title={props.label}
      change={change}
      onSave={() => change.mutate({ [props.name]: Number(text) }, onSaved)}
      isChanged={text !== String(props.current)}
      {...props}
    >
      <Field label={props.label} hint={props.meaning}>
        {(ids) => (
          <input
            {...ids}
            type="number"
            required
            {...settingBounds[props.name]}
            step={1}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
    </SettingForm>
  );
}

function SettingForm(props: {
  readonly title: string;
  readonly change: ReturnType<typeof useChange>;
  readonly onSave: () => void;
  readonly isChanged: boolean;
  readonly atLimit?: string;
  readonly used?: string;
  readonly children: ReactNode;
}) {
  const { change, isChanged } = props;
  return (
    <form
      aria-label={props.title}
      onSubmit={(event) => {
        event.preventDefault();
        props.onSave();
      }}
    >
      {props.children}
      {props.atLimit !== undefined && (
        <p className="hint">
          <strong>At the limit:</strong> {props.atLimit}
        </p>
      )}
      {props.used !== undefined && <p className="hint">{props.used}</p>}
      <ErrorNote error={change.error} />
      <div className="buttons">
        <button disabled={!isChanged || change.isPending}>Save</button>
        <span role="status" className="hint">
          {change.isSuccess && !isChanged && 'Saved'}
        </span>
      </div>
    </form>
  );
}
