/** What a keeper runs: one program with the files that it reads, all in one fresh folder. */
export interface KeeperOrder {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Made by the keeper, readable by its user alone, and removed with all that is in it. */
  readonly folder: string;
  /** Names in the folder, and their text. */
  readonly files: Readonly<Record<string, string>>;
}

/** In the folder: everything that the program says on stdout and stderr. */
export const LOG_NAME = "program.log";

export type KeeperRequest =
  | { readonly kind: "run"; readonly order: KeeperOrder }
  | { readonly kind: "stop" };

export type KeeperReply =
  | { readonly kind: "running"; readonly pid: number }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "ended"; readonly how: string };
