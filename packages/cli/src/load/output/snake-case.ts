/** Keys of our own records as JSON has them: `sendLagP99Ms` is `send_lag_p99_ms`. undefined becomes null, as does what is no number. */
export function toSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeCase);
  if (value === undefined || (typeof value === "number" && !Number.isFinite(value))) return null;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [snakeKey(key), toSnakeCase(inner)]),
  );
}

export function snakeKey(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
