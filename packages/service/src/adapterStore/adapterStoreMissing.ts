/** The folder of the adapters is missing, or another one is in its place. Its file system may not be mounted. */
export class AdapterStoreMissing extends Error {
  override readonly name = 'AdapterStoreMissing';
}
