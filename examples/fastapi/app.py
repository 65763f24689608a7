"""A support desk that answers with a model, traced by OpenTelemetry; nothing here is biaswatch's.

Where traces go, and who sends them, is said by OpenTelemetry's own variables (README.md beside
this file). A user's group travels as baggage: it is put on once, and every call below has it.
"""

import os
from contextlib import asynccontextmanager

os.environ.setdefault("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
os.environ.setdefault("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")

from fastapi import FastAPI, Header
from openai import AsyncOpenAI
from opentelemetry import baggage, context, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
from opentelemetry.processor.baggage import ALLOW_ALL_BAGGAGE_KEYS, BaggageSpanProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic import BaseModel

traces = TracerProvider()
traces.add_span_processor(BaggageSpanProcessor(ALLOW_ALL_BAGGAGE_KEYS))
traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(traces)
OpenAIInstrumentor().instrument()


@asynccontextmanager
async def lifespan(_: FastAPI):
    yield
    traces.shutdown()  # sends what is left


class Question(BaseModel):
    text: str


app = FastAPI(lifespan=lifespan)
model = AsyncOpenAI()  # OPENAI_BASE_URL, OPENAI_API_KEY
MODEL = os.environ.get("MODEL", "gpt-5-mini")


@app.post("/ask")
async def ask(question: Question, user: str = Header(), gender: str | None = Header(None)):
    """Answer a user; `gender` is what the user has told us, and may be missing."""
    known = baggage.set_baggage("user.id", user)
    if gender:
        known = baggage.set_baggage("biaswatch.group.gender", gender, known)
    token = context.attach(known)
    try:
        reply = await model.chat.completions.create(
            model=MODEL,
            messages=[
                {"role": "system", "content": "You are a friendly support desk."},
                {"role": "user", "content": question.text},
            ],
        )
    finally:
        context.detach(token)
    return {"answer": reply.choices[0].message.content}
