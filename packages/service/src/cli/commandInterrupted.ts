/**
 * A person ended the command by Ctrl-C. The message says in one line what was stopped and what remains. The exit status
 * is 130, as a shell has it.
 */
export class CommandInterrupted extends Error {
  override readonly name = 'CommandInterrupted';
}
