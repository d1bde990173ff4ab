/** The folder of all adapters is not there, or another one is in its place: its file system may not be mounted. */
export class AdapterStoreMissing extends Error {
  override readonly name = 'AdapterStoreMissing';
}
