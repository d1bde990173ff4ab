import { useRef } from 'react';

/**
 * The key of what somebody means to do: the same for a second try after a lost connection, another one for other input.
 * `done` ends it, so that the same input again is meant anew.
 */
export function useIdempotencyKey(): { keyOf: (intent: unknown) => string; done: () => void } {
  const kept = useRef<{ readonly intent: string; readonly key: string } | null>(null);
  return {
    keyOf: (intent) => {
      const text = JSON.stringify(intent);
      if (kept.current?.intent !== text) kept.current = { intent: text, key: newKey() };
      return kept.current.key;
    },
    done: () => {
      kept.current = null;
    },
  };
}

/** `crypto.randomUUID` is for pages over TLS alone. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
