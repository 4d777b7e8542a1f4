import type { Complaint } from "./problem.ts";
import type { Tree } from "./tree.ts";

/** A place in the file and what is wrong there. */
export type Report = (tree: Tree, complaint: Complaint & { readonly path: Path }) => void;
export type Path = readonly PropertyKey[];
