import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { ConsoleError } from '../api.js';

/** A label with its one control below it, and what it means. */
export function Field(props: {
  readonly label: string;
  readonly hint?: string;
  readonly children: (ids: { readonly id: string; readonly 'aria-describedby'?: string }) => ReactNode;
}) {
  const id = useId();
  const described = props.hint === undefined ? {} : { 'aria-describedby': `${id}-hint` };
  return (
    <div className="field">
      <label htmlFor={id}>{props.label}</label>
      {props.children({ id, ...described })}
      {props.hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {props.hint}
        </p>
      )}
    </div>
  );
}

/** An error in the service's own sentence. */
export function ErrorNote({ error }: { readonly error: unknown }) {
  if (error === null || error === undefined) return null;
  const message = error instanceof ConsoleError ? error.message : 'Something unexpected went wrong. Reload the page.';
  return (
    <p className="note bad" role="alert">
      {message}
    </p>
  );
}

/** While something is on its way. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <p className="hint" role="status">
      Loading {what}…
    </p>
  );
}

const tones: Readonly<Record<string, string>> = {
  succeeded: 'good',
  ready: 'good',
  active: 'good',
  running: 'busy',
  queued: 'busy',
  rejected: 'warn',
  expired: 'warn',
  reconciliation_required: 'warn',
  failed: 'bad',
};

export function Status({ name }: { readonly name: string }) {
  return <span className={`status ${tones[name] ?? ''}`}>{name.replaceAll('_', ' ')}</span>;
}

/** The browser's own modal dialog: it keeps the focus, and Escape closes it. */
export function Dialog(props: {
  readonly title: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    if (props.open) element.current?.showModal();
    else element.current?.close();
  }, [props.open]);
  return (
    <dialog ref={element} aria-labelledby={titleId} onClose={props.onClose}>
      {props.open && (
        <>
          <h2 id={titleId}>{props.title}</h2>
          {props.children}
        </>
      )}
    </dialog>
  );
}

/** Copies, or says how to where the browser does not let pages copy (without TLS). */
export function CopyButton({ text }: { readonly text: string }) {
  const [said, say] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      say('Copied');
    } catch {
      say('Select it and copy it by hand');
    }
  };
  return (
    <>
      <button type="button" onClick={() => void copy()}>
        Copy
      </button>
      <span role="status" className="hint">
        {said}
      </span>
    </>
  );
}
