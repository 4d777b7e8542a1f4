import { crossCheckListeners } from "./cross-check-listeners.ts";
import { crossCheckService } from "./cross-check-service.ts";
import { SERVICE_NAME_PATTERN } from "./policy-schema.ts";
import type { Report } from "./report.ts";
import type { Tree } from "./tree.ts";

const SERVICE_NAME = new RegExp(SERVICE_NAME_PATTERN);

/**
 * Mistakes that no single field shows. They are looked for in the tree and not in the schema's result,
 * so that they are reported even where other fields are wrong; what is not readable is passed over.
 */
export function crossCheck(root: Tree, report: Report): void {
  const services = root.children.get("services");
  if (services !== undefined && services.keys.size === 0 && isMapping(services)) {
    const remedy = "Add a service: a name with its `endpoints`.";
    report(services, { path: ["services"], reason: "there is no service", remedy });
  }
  for (const [name, service] of services?.children ?? []) {
    if (typeof name !== "string") continue;
    const path = ["services", name];
    if (!SERVICE_NAME.test(name)) {
      const [start, end] = services?.keys.get(name) ?? [service.start, service.end];
      report(
        { ...service, start, end },
        {
          path: ["services"],
          reason: "a service's name has letters, digits, dots, dashes and underscores, at most 63",
          remedy: "Rename it.",
        },
      );
    }
    crossCheckService(service, path, report);
  }
  crossCheckListeners(root, new Set(services?.keys.keys()), report);
}

function isMapping(tree: Tree): boolean {
  return typeof tree.value === "object" && tree.value !== null && !Array.isArray(tree.value);
}
