/** Whether a column or field name speaks of a latency. */
export function isLatencyName(name: string): boolean {
  return /latency|duration|elapsed|response.?time|request.?time|took|(?:^|[_.\s])rt(?:$|[_.\s])|time.?taken/i.test(
    name,
  );
}
