import { z } from 'zod';
import { errorTable, type ErrorCode, type ErrorEnvelope } from '../errors.js';

const codes = Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]];

/** The error envelope as a schema, for the description and for readers of an answer. */
export const errorEnvelopeSchema = z.object({
  error: z.object({
    code: z.enum(codes),
    retryable: z.boolean(),
    request_id: z.string(),
    message: z.string(),
    param: z.string().exactOptional(),
    job_id: z.string().exactOptional(),
    status_url: z.string().exactOptional(),
  }),
}) satisfies z.ZodType<ErrorEnvelope>;
