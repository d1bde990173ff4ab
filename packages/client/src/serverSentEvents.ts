/** The data of each server-sent event, without comments, see the HTML standard. It reads only `data` fields. */
export async function* readEventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const events = rest.split(/\r?\n\r?\n/);
    // An event is complete only with its blank line.
    rest = events.pop() ?? '';
    for (const event of events) {
      const data = event.split(/\r?\n/).flatMap((line) => /^data: ?(.*)$/s.exec(line)?.[1] ?? []);
      if (data.length > 0) yield data.join('\n');
    }
  }
}
