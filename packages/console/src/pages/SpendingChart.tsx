import { spendingDays, spendingGroups, type Spending } from '@engraft/contract/console';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { formatUsd } from '../format.js';
import { BarChart } from '../parts/charts.js';
import { ErrorNote, Field, Loading } from '../parts/parts.js';
import { useProject } from '../project.js';
import { spendingQuery } from '../queries.js';

/** The spending of each day, by what it was for. */
export function SpendingChart() {
  const project = useProject();
  const [by, setBy] = useState<(typeof spendingGroups)[number]>('kind');
  const [days, setDays] = useState<(typeof spendingDays)[number]>('30');
  const spent = useQuery({ ...spendingQuery(project, { by, days }), placeholderData: keepPreviousData });
  return (
    <section aria-labelledby="spending">
      <h2 id="spending">Spending</h2>
      <div className="filters">
        <Field label="By">
          {(ids) => (
            <select
              {...ids}
              value={by}
              onChange={(event) => setBy(spendingGroups.find((each) => each === event.target.value) ?? 'kind')}
            >
              {spendingGroups.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Days">
          {(ids) => (
            <select
              {...ids}
              value={days}
              onChange={(event) => setDays(spendingDays.find((each) => each === event.target.value) ?? '30')}
            >
              {spendingDays.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <ErrorNote error={spent.error} />
      {spent.isPending && <Loading what="the spending" />}
      {spent.data !== undefined && <Chart spending={spent.data} by={by} />}
    </section>
  );
}

function Chart({ spending: { days, groups }, by }: { readonly spending: Spending; readonly by: string }) {
  const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  const total = sumOf(groups.map(({ microusd_by_day }) => sumOf(microusd_by_day)));
  if (total === 0) return <p>Nothing was spent in these days.</p>;
  return (
    <BarChart
      title={`Spending by ${by}`}
      summary={`${formatUsd(total)} from ${days[0] ?? ''} to ${days.at(-1) ?? ''}.`}
      nameOf="Day (UTC)"
      series={groups.map(({ name }) => name ?? 'others')}
      bars={days.map((name, day) => ({ name, values: groups.map((group) => group.microusd_by_day[day] ?? 0) }))}
      format={formatUsd}
    />
  );
}
