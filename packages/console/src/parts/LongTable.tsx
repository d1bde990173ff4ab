import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useRef, type ReactNode } from 'react';

const rowPixels = 45;
/** Rows that are asked for before they come into sight. */
const rowsAhead = 20;
/** Rows in the page above and below the screen: a list of one page is there as a whole, for printing and searching. */
const rowsAround = 50;

export interface Column {
  readonly name: string;
  readonly isNumber?: boolean;
}

/** A table of any length: only the rows near the screen are in the page, and more are asked for near the end. */
export function LongTable<Row>(props: {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  /** As many as there are columns. */
  readonly cellsOf: (row: Row) => readonly ReactNode[];
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly onMore: () => void;
}) {
  const { columns, rows, hasMore, isLoadingMore, onMore } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowPixels,
    overscan: rowsAround,
    scrollMargin: body.current === null ? 0 : body.current.getBoundingClientRect().top + window.scrollY,
  });
  const items = virtualizer.getVirtualItems();
  const { scrollMargin } = virtualizer.options;
  const above = (items[0]?.start ?? scrollMargin) - scrollMargin;
  const below = virtualizer.getTotalSize() - ((items.at(-1)?.end ?? scrollMargin) - scrollMargin);
  const isNearEnd = (items.at(-1)?.index ?? 0) >= rows.length - rowsAhead;
  useEffect(() => {
    if (isNearEnd && hasMore && !isLoadingMore) onMore();
  }, [isNearEnd, hasMore, isLoadingMore, onMore]);
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={props.label}>
      <table aria-rowcount={hasMore ? -1 : rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ name, isNumber = false }) => (
              <th key={name} className={isNumber ? 'number' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          <Gap pixels={above} columns={columns.length} />
          {items.map(({ index }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <kept.TableRow
                key={props.keyOf(row)}
                row={row}
                index={index}
                columns={columns}
                cells={() => props.cellsOf(row)}
                measure={virtualizer.measureElement}
              />
            );
          })}
          <Gap pixels={below} columns={columns.length} />
        </tbody>
      </table>
      {isLoadingMore && (
        <p className="hint" role="status">
          Loading more…
        </p>
      )}
    </div>
  );
}

interface TableRowProps {
  readonly row: unknown;
  readonly index: number;
  readonly columns: readonly Column[];
  readonly cells: () => readonly ReactNode[];
  readonly measure: (element: HTMLTableRowElement | null) => void;
}

function TableRow({ columns, index, cells, measure }: TableRowProps) {
  return (
    <tr ref={measure} data-index={index} aria-rowindex={index + 2}>
      {cells().map((cell, column) => (
        <td key={columns[column]?.name} className={columns[column]?.isNumber === true ? 'number' : ''}>
          {cell}
        </td>
      ))}
    </tr>
  );
}

/** Scrolling renders only the rows that come in, since a row looks the same as long as it is the same object. */
const kept = {
  TableRow: memo(
    TableRow,
    (before, after) => before.row === after.row && before.index === after.index && before.columns === after.columns,
  ),
};

/** Stands where rows are that nobody sees. */
function Gap({ pixels, columns }: { readonly pixels: number; readonly columns: number }) {
  if (pixels <= 0) return null;
  return (
    <tr aria-hidden="true">
      <td className="gap" colSpan={columns} style={{ height: pixels }} />
    </tr>
  );
}
