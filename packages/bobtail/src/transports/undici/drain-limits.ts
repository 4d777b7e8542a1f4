/** An answer that nobody wants is read to its end if that is as near as this: a connection is dearer. */
export const DRAIN_BYTES: number = 16 * 1024;
/** How long that reading may take. */
export const DRAIN_MS = 50;
