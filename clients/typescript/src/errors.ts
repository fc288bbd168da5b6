import type { Problem } from "./generated/types.gen.js";

/** The server refused, and nothing was changed; or something in front of it did, which leaves that open. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly detail: string;
  /** All that the API said; undefined if the answer is somebody else's, say a proxy's. */
  readonly problem: Problem | undefined;
  /** Seconds, if the server named any. */
  readonly retryAfter: number | undefined;

  constructor(status: number, detail: string, problem?: Problem, retryAfter?: number) {
    super([status, problem?.code, detail].filter(Boolean).join(" "));
    this.status = status;
    this.detail = detail;
    this.problem = problem;
    this.retryAfter = retryAfter;
  }

  /** The problem's, or empty. */
  get code(): Problem["code"] | "" {
    return this.problem?.code ?? "";
  }

  /** The one that is in the way, with its state. */
  get task(): Problem["task"] {
    return this.problem?.task;
  }

  get job(): Problem["job"] {
    return this.problem?.job;
  }

  static async of(response: Response): Promise<ApiError> {
    const text = await response.text();
    const problem = problemIn(response, text);
    const seconds = Number.parseFloat(response.headers.get("Retry-After") ?? "");
    return new ApiError(
      response.status,
      problem?.detail ?? somebodyElses(response, text),
      problem,
      Number.isFinite(seconds) ? seconds : undefined,
    );
  }
}

function problemIn(response: Response, text: string): Problem | undefined {
  if (!response.headers.get("Content-Type")?.startsWith("application/problem+json")) return undefined;
  try {
    return JSON.parse(text) as Problem;
  } catch {
    return undefined;
  }
}

function somebodyElses(response: Response, text: string): string {
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
    const where = response.headers.get("Location") ?? "another address";
    return `${response.url} redirects to ${where}. Give the client the address that needs no redirect.`;
  }
  return `${response.url} did not answer as the API does: ${text.trim().slice(0, 200) || "its answer is empty"}`;
}
