/**
 * The store of adapters is elsewhere and does not answer, or refuses to: nothing is known of the adapter that was asked
 * for. It has no `cause`, which might say in the log how a request was signed.
 */
export class AdapterStoreUnavailable extends Error {
  override readonly name = 'AdapterStoreUnavailable';

  /** `isRefused`: it answered, and may refuse this adapter alone. Others are not kept waiting. */
  constructor(
    message: string,
    readonly isRefused = false,
  ) {
    super(message);
  }
}
