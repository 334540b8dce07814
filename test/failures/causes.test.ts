// What is read as the cause of an error: texts as programs write them, with the status and class that came with them.
import { expect, test } from 'vitest'
import { causeOf } from '../../server/failures/causes.ts'
import { CAUSES, type Cause } from '../../server/failures/failure.ts'

type Row = [text: string, httpStatus?: string | null, name?: string | null]

const EXPECTED: Record<Cause, Row[]> = {
  TIMEOUT: [
    ['timeout of 30000ms exceeded', null, 'AxiosError'],
    ['timeout of 300000ms exceeded', 'ECONNABORTED', 'NodeApiError'],
    ["The connection timed out, consider setting the 'Retry on Fail' option in the node settings", 'ETIMEDOUT'],
    ['connect ETIMEDOUT 203.0.113.7:443'],
    ['Request timed out.', null, 'APIConnectionTimeoutError'],
    ['The operation was aborted due to timeout', null, 'TimeoutError'],
    ['Connect Timeout Error (attempted address: api.example.com:443, timeout: 10000ms)'],
    ['Gateway timed out - perhaps try again later?', '504', 'NodeApiError'],
    ['504 - "<html><head><title>504 Gateway Time-out</title></head></html>"'],
    ['Request Timeout', '408'],
    ['Task request timed out after 60 seconds'],
    ['canceling statement due to statement timeout'],
    ['DEADLINE_EXCEEDED: Deadline exceeded after 59.9s'],
  ],
  RATE_LIMIT: [
    ['The service is receiving too many requests from you', '429', 'NodeApiError'],
    ['The service is receiving too many requests from you'],
    ['Rate limit reached for gpt-4o in organization org-fake on tokens per min (TPM): Limit 30000, Used 29937'],
    ['Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 31538.', '429'],
    ['You exceeded your current quota, please check your plan and billing details.', '429', 'InsufficientQuotaError'],
    ['{"type":"error","error":{"type":"rate_limit_error","message":"Number of requests has exceeded your limit"}}'],
    ['Resource has been exhausted (e.g. check quota).', '429'],
    ['API rate limit exceeded for user ID 1234567.', '403'],
    ['Rate exceeded', '400', 'ThrottlingException'],
    ['Slack error response: "ratelimited"', '200'],
    ['You have reached your secondly limit.', '429'],
    ['Request failed with status code 429', null, 'AxiosError'],
    ['Dev app App51025API (Mautic) throttled (100 script executions per 30 seconds), contact support.'],
    ["Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute per user'"],
  ],
  AUTHENTICATION: [
    ['Authorization failed - please check your credentials', '401', 'NodeApiError'],
    ['Forbidden - perhaps check your credentials?', '403', 'NodeApiError'],
    ['Incorrect API key provided: fake-key*****ting.', '401'],
    ['API key not valid. Please pass a valid API key.', '400'],
    ['invalid x-api-key', null, 'AuthenticationError'],
    ['invalid_grant: Token has been expired or revoked.', '400'],
    ['Slack error response: "invalid_auth"', '200'],
    ['password authentication failed for user "n8n"'],
    ['Invalid login: 535-5.7.8 Username and Password not accepted.', '535'],
    ['Request failed with status code 401'],
    ['The security token included in the request is expired', '400', 'ExpiredTokenException'],
    ['The caller does not have permission', '403'],
    ['ORA-01017: invalid username/password; logon denied'],
  ],
  NOT_FOUND: [
    ['The resource you are requesting could not be found', '404', 'NodeApiError'],
    ['The resource you are requesting could not be found'],
    ['The model `gpt-5-turbo-preview` does not exist or you do not have access to it.', '404'],
    ['{"type":"error","error":{"type":"not_found_error","message":"model: claude-2.1"}}', '404'],
    ['model "llama3.1:8b" not found, try pulling it first'],
    ['Request failed with status code 404'],
    ['404 - "{\\"message\\":\\"no such lead\\"}"', null, 'AxiosError'],
    ['Slack error response: "channel_not_found"', '200'],
    ["ENOENT: no such file or directory, open '/data/in/report.csv'"],
    ['The specified key does not exist.', null, 'NoSuchKey'],
    ['Gone', '410'],
  ],
  INVALID_INPUT: [
    ['Bad request - please check your parameters', '400', 'NodeApiError'],
    ['Bad request - please check your parameters'],
    ['Your request is invalid or could not be processed by the service', '422'],
    ["Invalid schema for function 'lookup_order': array schema missing items.", '400'],
    ["Invalid 'messages[3].content': string too long. Expected a string with maximum length 1048576", '400'],
    ['max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens', '400'],
    ['Received tool input did not match expected schema'],
    ['Unexpected token \'<\', "<!DOCTYPE "... is not valid JSON', null, 'SyntaxError'],
    ["TypeError: Cannot read properties of undefined (reading 'price') [line 3]", null, 'WrappedExecutionError'],
    ['Unexpected end of JSON input [line 4]', null, 'WrappedExecutionError'],
    ["'amount' expects a number but we got 'abc'", null, 'ExpressionError'],
    ['invalid input syntax for type integer: "12,5"'],
    ['Property values were not valid: [{"isValid":false,"error":"INVALID_EMAIL","name":"email"}]', '400'],
    ['Required field "Email" (email) is missing.'],
    ['request entity too large', '413', 'PayloadTooLargeError'],
  ],
  CONNECTION: [
    ['The service refused the connection - perhaps it is offline', 'ECONNREFUSED', 'NodeApiError'],
    ['connect ECONNREFUSED 127.0.0.1:5432'],
    ['connect ECONNREFUSED ::1:404'],
    ['read ECONNRESET'],
    ['socket hang up'],
    ['getaddrinfo ENOTFOUND api.exmaple.com'],
    ['getaddrinfo EAI_AGAIN redis'],
    ['request to https://api.example.com/timeout failed, reason: certificate has expired'],
    ['self-signed certificate in certificate chain', 'SELF_SIGNED_CERT_IN_CHAIN'],
    ['fetch failed', null, 'TypeError'],
    ['Connection error.', null, 'APIConnectionError'],
    ['connect EHOSTUNREACH 10.0.3.4:443'],
  ],
  CONTEXT_LENGTH: [
    ["This model's maximum context length is 128000 tokens. However, your messages resulted in 131204 tokens.", '400'],
    ["This model's maximum context length is 8192 tokens, however you requested 8238 tokens."],
    ['{"error":{"type":"invalid_request_error","code":"context_length_exceeded"}}', '400'],
    ['prompt is too long: 208310 tokens > 200000 maximum', '400'],
    ['input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000', '400'],
    ['The input token count (1204411) exceeds the maximum number of tokens allowed (1048576).', '400'],
    ['Your input exceeds the context window of this model. Please adjust your input and try again.', '400'],
  ],
  CONTENT_FILTER: [
    ["The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", '400'],
    ['[GoogleGenerativeAI Error]: Candidate was blocked due to SAFETY'],
    ['[GoogleGenerativeAI Error]: Text not available. Response was blocked due to PROHIBITED_CONTENT'],
    ['Output blocked by content filtering policy', '400'],
    ['Your request was rejected as a result of our safety system.', '400'],
    ['{"error":{"code":"content_policy_violation","type":"invalid_request_error"}}', '400'],
  ],
  PROVIDER_ERROR: [
    ['The service was not able to process your request', '500', 'NodeApiError'],
    ['Bad gateway - the service failed to handle your request', '502', 'NodeApiError'],
    ['Service unavailable - try again later or consider setting this node to retry automatically', '503'],
    ['{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', '529'],
    ['Overloaded'],
    ['The server had an error while processing your request. Sorry about that!', '500'],
    ['That model is currently overloaded with other requests.', '503'],
    ['[503 Service Unavailable] The model is overloaded. Please try again later.'],
    ['Request failed with status code 500'],
    ['502 - "<html><head><title>502 Bad Gateway</title></head></html>"'],
    ['lab nested 500', '500'],
    ['Order 48213 could not be loaded', '500'],
    ['', '503'],
  ],
  OTHER: [
    ['Company is blocked', null, 'NodeOperationError'],
    ['Order 404 was refused by the warehouse'],
    ['Customer 429 wants no reminder'],
    ['Invoice 500: amounts differ by 401 EUR'],
    ['The authors disagree'],
    ['Exchange rate too low for a limit order'],
    ['Max iterations (10) reached. The agent could not complete the task within the allowed number of iterations.'],
    ['order is not defined [line 4]', null, 'WrappedExecutionError'],
    ["ENOSPC: no space left on device, open '/tmp/n8n-8812.bin'"],
    ['Reached heap limit Allocation failed - JavaScript heap out of memory'],
    ['Unknown error', null, 'WrappedExecutionError'],
    [''],
  ],
}

const rows = CAUSES.flatMap((cause) =>
  EXPECTED[cause].map(([text, httpStatus = null, name = null]) => [cause, text, httpStatus, name] as const),
)

test('the table has at least 60 errors, and some for every cause', () => {
  expect(rows.length).toBeGreaterThanOrEqual(60)
  expect(CAUSES.filter((cause) => EXPECTED[cause].length < 5)).toEqual([])
})

test.each(rows)('%s: %s (%s, %s)', (cause, text, httpStatus, name) => {
  expect(causeOf(text, httpStatus, name)).toBe(cause)
})
