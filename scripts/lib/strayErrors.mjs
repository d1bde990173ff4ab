// A reporter for `node --test`: repeats at the end what went wrong outside of every test. Such an error fails its file
// while each test of it passes, and the other reporter tells it in the middle of thousands of lines alone.
export default async function* strayErrors(events) {
  const strays = [];
  for await (const { type, data } of events) {
    if (type === 'test:diagnostic' && /^(Error|Warning): /.test(data.message)) strays.push(data.message);
  }
  if (strays.length > 0) yield `\nerrors outside of tests:\n\n${strays.join('\n\n')}\n`;
}
