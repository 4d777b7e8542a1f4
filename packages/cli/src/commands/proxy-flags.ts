/** The options of `bobtail proxy`, as written. */
export interface ProxyFlags {
  readonly config?: string;
  readonly listen?: string;
  readonly to?: readonly string[];
  readonly admin?: string;
  readonly hedge?: string;
  readonly budget?: string;
  readonly accessLog?: boolean;
  readonly grace: string;
}
