import { useEffect, useState } from 'react';
import { formatAge, formatTime } from '../format.js';

const tickMs = 10_000;

/** The time since something happened, which goes on by itself. */
export function Age({ of: time }: { readonly of: string }) {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  return <span title={formatTime(time)}>{formatAge(time, nowMs)}</span>;
}
