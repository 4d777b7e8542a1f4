import { z } from "zod";
import { policySchema } from "./policy-schema.ts";

/** The policy file as JSON Schema 2020-12, for editors and other validators. */
export function policyJsonSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(policySchema, {
    io: "input",
    target: "draft-2020-12",
  });
  return {
    $schema,
    title: "Bobtail policy file",
    description: "Services, their endpoints and the policy of their calls. YAML or JSON.",
    ...rest,
  };
}
