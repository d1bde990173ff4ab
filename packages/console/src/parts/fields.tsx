import { Field } from './parts.js';

interface UsdFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly minUsd: number;
  readonly maxUsd: number;
  readonly value: string;
  readonly onChange: (usd: string) => void;
}

/** An amount in USD, as text while it is typed. */
export function UsdField({ label, hint, minUsd, maxUsd, value, onChange }: UsdFieldProps) {
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      {(ids) => (
        <input
          {...ids}
          type="number"
          required
          min={minUsd}
          max={maxUsd}
          step="any"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

export function microusdOf(usd: string): number {
  return Math.round(Number(usd) * 1_000_000);
}

interface ReasonFieldProps {
  readonly value: string;
  readonly onChange: (reason: string) => void;
}

/** The reason of an operator, for the audit log. */
export function ReasonField({ value, onChange }: ReasonFieldProps) {
  return (
    <Field label="Reason" hint="It goes into the audit log, with your name.">
      {(ids) => (
        <input {...ids} required maxLength={500} value={value} onChange={(event) => onChange(event.target.value)} />
      )}
    </Field>
  );
}
